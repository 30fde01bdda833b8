/** Why an image cannot be used: `refused` stays so, `unavailable` may pass. */
export type ImageErrorKind = 'refused' | 'unavailable';

/** An image cannot be used. The message is one sentence that names it and says what to do. */
export class ImageError extends Error {
  override name = 'ImageError';
  readonly kind: ImageErrorKind;

  constructor(kind: ImageErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
