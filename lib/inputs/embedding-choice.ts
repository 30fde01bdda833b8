/** An embedding model, and the words that its makers want before each text, such as `query:` and `passage:`. */
export interface EmbeddingChoice {
  /** As `provider/model`. */
  model: string;
  /** Empty for none. */
  queryPrefix: string;
  passagePrefix: string;
}

/** Returns the name of a model with its passage prefix: vectors made with different prefixes are not comparable. */
export function embeddingName({ model, passagePrefix }: EmbeddingChoice): string {
  return passagePrefix === '' ? model : `${model} "${passagePrefix}"`;
}

/** Returns a text as it is embedded. */
export function prefixed(prefix: string, text: string): string {
  return prefix === '' ? text : `${prefix} ${text}`;
}
