/** The parts of an API process that touch the outside. */
export type ApiPart = 'stores' | 'service' | 'client' | 'models';

/** Answers a part, or something that stands before it and looks the same. */
export type InstrumentApi = <Part extends object>(name: ApiPart, part: Part) => Part;

export const uninstrumented: InstrumentApi = (_name, part) => part;
