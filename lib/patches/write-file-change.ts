import type { LineChange } from './line-diff.ts';
import { writeHunks } from './write-hunks.ts';

/** A file on one side of a change. */
export interface FileSide {
  path: string;
  /** Null: neither patch says it, so it is the same on both sides. */
  mode: string | null;
  blob: string | null;
}

export interface FileDifference {
  /** Null: the file came. */
  before: FileSide | null;
  /** Null: the file went. */
  after: FileSide | null;
  /** Null: not as text. */
  lines: LineChange[] | null;
}

/** The part of a patch that is about one file, as git writes it; empty when nothing differs. */
export function writeFileChange({ before, after, lines }: FileDifference): string {
  const [old, now] = [before ?? after, after ?? before];
  if (old === null || now === null) return '';
  const hunks = lines === null ? '' : writeHunks(lines);
  const differs = lines === null ? before?.blob !== after?.blob : hunks !== '';
  const isMoved = old.path !== now.path;
  const isOther = before !== null && after !== null && before.mode !== after.mode;
  if (before !== null && after !== null && !differs && !isMoved && !isOther) return '';
  const [oldName, newName] = [quoted(`a/${old.path}`), quoted(`b/${now.path}`)];
  return [
    `diff --git ${oldName} ${newName}\n`,
    isOther ? `old mode ${before.mode}\nnew mode ${after.mode}\n` : '',
    before === null ? `new file mode ${now.mode ?? '100644'}\n` : '',
    after === null ? `deleted file mode ${old.mode ?? '100644'}\n` : '',
    isMoved && !differs ? 'similarity index 100%\n' : '',
    isMoved ? `rename from ${quoted(old.path)}\nrename to ${quoted(now.path)}\n` : '',
    indexLine(before, after),
    ...(differs ? content({ before, after, oldName, newName, hunks, isText: lines !== null }) : []),
  ].join('');
}

const noBlob = '0'.repeat(40);

function indexLine(before: FileSide | null, after: FileSide | null): string {
  const [old, now] = [before === null ? noBlob : before.blob, after === null ? noBlob : after.blob];
  if (old === null || now === null || old === now) return '';
  const mode = before !== null && before.mode !== null && before.mode === after?.mode ? ` ${before.mode}` : '';
  return `index ${old}..${now}${mode}\n`;
}

interface Content {
  before: FileSide | null;
  after: FileSide | null;
  oldName: string;
  newName: string;
  hunks: string;
  isText: boolean;
}

function content({ before, after, oldName, newName, hunks, isText }: Content): string[] {
  const [old, now] = [before === null ? '/dev/null' : oldName, after === null ? '/dev/null' : newName];
  if (!isText) return [`Binary files ${old} and ${now} differ\n`];
  // git ends a name with a space in it by a tab
  const ended = (name: string) => (name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name);
  return [`--- ${ended(old)}\n+++ ${ended(now)}\n`, hunks];
}

const named: Record<number, string> = { 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r', 34: '"', 92: '\\' };

/** A name as git writes it: in quotes and with escapes when it holds more than plain characters. */
function quoted(name: string): string {
  const bytes = [...Buffer.from(name)];
  if (bytes.every((byte) => byte >= 32 && byte < 127 && byte !== 34 && byte !== 92)) return name;
  const escaped = bytes.map((byte) => {
    if (named[byte] !== undefined) return `\\${named[byte]}`;
    return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${escaped.join('')}"`;
}
