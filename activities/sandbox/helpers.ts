import { execFile } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Programs of the machine that work on the file system of any image, whatever its libraries: each is started by the
 * machine's loader with the machine's libraries.
 */
export interface Helpers {
  /** Where each file is on the machine, by its name. */
  files: Readonly<Record<string, string>>;
  /** Name of the loader. */
  loader: string;
}

export type Helper = 'sh' | 'prlimit' | 'nice' | 'node';

/** Folder of the helpers in the sandbox. */
export const helperFolder = '/.docket';
const library = /^[ \t]*(?:\S+ => )?(\/\S+) \(0x[\da-f]+\)$/gm;
const loaderName = /^ld(?:-|64|\.)/;

/** Finds the libraries that the helpers need. Null where they cannot be found out. */
export async function findHelpers(programs: Readonly<Record<Helper, string>>): Promise<Helpers | null> {
  const files: Record<string, string> = {};
  try {
    for (const [name, path] of Object.entries(programs)) {
      await access(path, constants.X_OK);
      files[name] = await realpath(path);
    }
    const { stdout } = await execute('ldd', Object.values(programs), { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } });
    for (const [, found = ''] of stdout.matchAll(library)) files[basename(found)] = await realpath(found);
  } catch {
    return null;
  }
  const loader = Object.keys(files).find((name) => loaderName.test(name));
  return loader === undefined ? null : { files, loader };
}

/** Returns the words that start a helper in the sandbox. */
export function helperCommand({ loader }: Helpers, helper: Helper): string[] {
  return [`${helperFolder}/${loader}`, '--library-path', helperFolder, `${helperFolder}/${helper}`];
}
