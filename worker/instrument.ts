/** The parts of a worker process that touch the outside, and the activities that use them. */
export type WorkerPart = 'stores' | 'git' | 'forges' | 'models' | 'workspaces' | 'clients' | 'activities' | 'client';

/** Answers a part, or something that stands before it and looks the same. */
export type InstrumentWorker = <Part extends object>(name: WorkerPart, part: Part) => Part;

export const uninstrumented: InstrumentWorker = (_name, part) => part;
