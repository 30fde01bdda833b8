/** The contents of a snapshot were removed to make room. */
export class SnapshotRemovedError extends Error {
  override name = 'SnapshotRemovedError';

  constructor() {
    super(
      'The files of this step are not kept any more, to make room; those of the newest step and of the end of each turn are kept longest.',
    );
  }
}
