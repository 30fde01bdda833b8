import { invalidRequest } from '../http/errors.ts';

interface ModelChoice {
  model?: string | null | undefined;
  models?: string[] | null | undefined;
}

/**
 * Returns the models that a request names, in order; null to reset a setting, undefined when it names none. Throws
 * ApiError.
 */
export function namedModels(
  { model, models }: ModelChoice,
  problemWithModel: (name: string) => string | null,
): string[] | null | undefined {
  if (model !== undefined && models !== undefined)
    throw invalidRequest('model and models must not be sent together. Send models to name more than one.');
  const only = typeof model === 'string' ? [model] : model;
  const named = models === undefined ? only : models;
  if (Array.isArray(named)) checkModels(named, problemWithModel);
  return named;
}

/** Throws ApiError when one of the models cannot be used. */
export function checkModels(models: readonly string[], problemWithModel: (name: string) => string | null): void {
  for (const model of models) {
    const problem = problemWithModel(model);
    if (problem !== null) throw invalidRequest(problem);
  }
}
