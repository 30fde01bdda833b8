/** Something the model can act on: its message becomes the answer of the call. Every other error ends the batch. */
export class ToolProblem extends Error {
  override name = 'ToolProblem';
}

/** The `code` of a file system error, null for anything else. */
export function errorCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** The problem behind a file system error on a path the model gave; an error it cannot help comes back as it is. */
export function problemOf(error: unknown, shown: string): unknown {
  const sentence = sentenceFor(errorCodeOf(error), shown);
  return sentence === null ? error : new ToolProblem(sentence, { cause: error });
}

function sentenceFor(code: string | null, shown: string): string | null {
  switch (code) {
    case 'ENOENT':
      return `${shown} does not exist. Use list or glob to see which files exist.`;
    case 'ENOTDIR':
      return `${shown} cannot exist: a part of that path is a file, not a folder.`;
    case 'EISDIR':
      return `${shown} is a folder, not a file.`;
    case 'ELOOP':
      return `${shown} is a symbolic link, which this tool does not follow.`;
    case 'ENXIO':
      return `${shown} is not a regular file.`;
    case 'EACCES':
    case 'EPERM':
      return `${shown} cannot be accessed (permission denied).`;
    case 'ENAMETOOLONG':
      return `${shown} is too long for a path.`;
    case 'EEXIST':
      return `${shown} exists already.`;
    case 'ENOTEMPTY':
      return `${shown} is a folder that is not empty.`;
    default:
      return null;
  }
}
