import { codeOf } from '../../lib/error-code.ts';

/** An error that the model can act on: its message becomes the output of the call. Every other error ends the batch. */
export class ToolProblem extends Error {
  override name = 'ToolProblem';
}

/** The problem of a path that does not exist. */
export class MissingPath extends ToolProblem {
  override name = 'MissingPath';
  readonly shown: string;

  constructor(shown: string, options?: ErrorOptions) {
    super(`${shown} does not exist.`, options);
    this.shown = shown;
  }
}

/**
 * Returns the problem for a file system error on a path of the model. Errors that the model cannot act on are returned
 * unchanged.
 */
export function problemOf(error: unknown, shown: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOENT') return absenceOf(shown, { cause: error });
  const sentence = sentenceFor(code, shown);
  return sentence === null ? error : new ToolProblem(sentence, { cause: error });
}

/**
 * Returns the problem of a path that does not exist. A character that stands for bytes that are not UTF-8 is listed,
 * but names no file.
 */
export function absenceOf(shown: string, options?: ErrorOptions): ToolProblem {
  return shown.includes('\uFFFD')
    ? new ToolProblem(`The name of ${shown} is not valid UTF-8, so no tool can open it.`, options)
    : new MissingPath(shown, options);
}

function sentenceFor(code: string | null, shown: string): string | null {
  switch (code) {
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
