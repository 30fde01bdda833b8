/** The parts of a worker process that access outside systems, and the activities that use them. */
type WorkerPart = 'stores' | 'git' | 'forges' | 'models' | 'workspaces' | 'clients' | 'activities' | 'client';

/** Returns the part itself or a wrapper with the same interface. */
export type InstrumentWorker = <Part extends object>(name: WorkerPart, part: Part) => Part;

export const uninstrumented: InstrumentWorker = (_name, part) => part;
