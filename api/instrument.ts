/** Parts of an API process that communicate with the outside. */
export type ApiPart = 'stores' | 'service' | 'client' | 'models';

/** Returns a part, or a wrapper around it with the same interface. */
export type InstrumentApi = <Part extends object>(name: ApiPart, part: Part) => Part;

export const uninstrumented: InstrumentApi = (_name, part) => part;
