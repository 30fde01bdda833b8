/** The environment cannot be used; the message names every variable that is missing or wrong. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
