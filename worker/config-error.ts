/** Names every variable that is missing or wrong. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
