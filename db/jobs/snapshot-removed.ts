/** The contents of a snapshot were removed to free space. */
export class SnapshotRemovedError extends Error {
  override name = 'SnapshotRemovedError';

  constructor() {
    super(
      'These files were deleted to free space. Files of the newest step, of pull requests and of the last step of each turn are kept longest.',
    );
  }
}

/** The steps of a job were removed a time after it was archived. */
export class TranscriptRemovedError extends Error {
  override name = 'TranscriptRemovedError';

  constructor() {
    super(
      'The transcript of this job has expired: its steps, diffs and files were deleted some time after it was archived.',
    );
  }
}
