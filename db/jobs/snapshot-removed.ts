/** The contents of a snapshot were removed to free space. */
export class SnapshotRemovedError extends Error {
  override name = 'SnapshotRemovedError';

  constructor() {
    super(
      'The files of this step were deleted to free space. Those of the newest step and of the end of each turn are kept longest.',
    );
  }
}
