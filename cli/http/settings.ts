import { readFile } from 'node:fs/promises';
import { homeOf, readLocalJson, type LocalJson } from '../../local/local-json.ts';
import { CommandError } from '../command-error.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

export type KeyKind = 'admin' | 'assistant';

/** Options that every command accepts. */
export interface GlobalOptions {
  json?: true;
  url?: string;
  keyFile?: string;
}

export interface ApiSettings {
  baseUrl: string;
  key: string;
  /** Contents of `local.json`, written by `npm start`, when the requests go to that local stack. */
  local: LocalJson | null;
}

const secretLength = 61;
const keyPattern = new RegExp(`^svc_(dsc_)?[0-9A-Za-z]{${secretLength}}$`);

/**
 * Returns the base URL of the API and the key of the given kind. The local stack's key is sent only to the local stack.
 */
export async function readApiSettings(
  { url, keyFile }: GlobalOptions,
  env: NodeJS.ProcessEnv,
  kind: KeyKind,
): Promise<ApiSettings> {
  const home = homeOf(env);
  const found = await readLocalJson(home);
  const named = url || env['DOCKET_URL'];
  const baseUrl = addressOf(named || found?.baseUrl);
  // a checkout of another person's repository may contain a `.docket` folder, too
  if (!named && !env['DOCKET_HOME'] && !isOnThisMachine(baseUrl))
    throw new CommandError(`${home} points to ${baseUrl}. If you trust that URL, set it (--url, DOCKET_URL).`);
  const local = found !== null && new URL(found.baseUrl).origin === new URL(baseUrl).origin ? found : null;
  const given = [
    ...(keyFile === undefined ? [] : [{ source: keyFile, key: await keyIn(keyFile) }]),
    { source: 'DOCKET_API_KEY', key: env['DOCKET_API_KEY']?.trim() },
    { source: 'DOCKET_ASSISTANT_KEY', key: env['DOCKET_ASSISTANT_KEY']?.trim() },
  ];
  const own = given.find(({ source, key }) => key && kindOf(source, key) === kind)?.key;
  const mistaken = given.find(
    ({ source, key }) => key && source !== 'DOCKET_ASSISTANT_KEY' && kindOf(source, key) !== 'admin',
  );
  if (kind === 'admin' && own === undefined && mistaken !== undefined)
    throw new CommandError(
      `${mistaken.source} holds an assistant key (svc_dsc_…). This command needs an admin key (svc_…).`,
    );
  const known = kind === 'admin' ? local?.adminKey : local?.assistantKey;
  // another account may have written the file, or listens on the port in its address
  if (own !== undefined && own !== known && !named && !env['DOCKET_HOME'])
    throw new CommandError(`The key is sent only to a URL that you set. If you mean ${baseUrl}, set DOCKET_URL.`);
  const key = own ?? known;
  if (key !== undefined) return { baseUrl, key, local };
  throw new CommandError(
    kind === 'admin'
      ? 'An admin key (svc_…) is required. Set DOCKET_API_KEY, or pass the file that holds it with --key-file.'
      : 'An assistant key (svc_dsc_…) is required. Set DOCKET_ASSISTANT_KEY; "docket key create --kind assistant" creates one.',
  );
}

function addressOf(text: string | undefined): string {
  if (text === undefined)
    throw new CommandError(
      'The URL of Docket is unknown. Set DOCKET_URL and DOCKET_API_KEY, or start a local stack with "npm start".',
    );
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new CommandError(
      'The URL of Docket must be an http or https URL without a user name or password, such as https://docket.example.com.',
    );
  return trimEndSlashes(url.href);
}

function isOnThisMachine(address: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}

async function keyIn(file: string): Promise<string> {
  if (file.startsWith('svc_')) throw new CommandError('--key-file must be the name of a file, not a key.');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new CommandError(`${file} cannot be read.`, { cause });
  }
}

/** Returns the kind of a key. Both kinds begin with `svc_`. */
function kindOf(source: string, key: string): KeyKind {
  const match = keyPattern.exec(key);
  if (match === null)
    throw new CommandError(
      `${source} holds no complete Docket API key: svc_ or svc_dsc_ and ${secretLength} letters and digits. Copy it again.`,
    );
  return match[1] === undefined ? 'admin' : 'assistant';
}
