import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ForgeServers } from '../../activities/forges/forges.ts';
import type { GithubApp } from '../../activities/forges/github-credential.ts';
import { ConfigError, httpAddress } from '../../lib/config/read-variables.ts';

const tokenText = z.string().regex(/^[\x21-\x7e]+$/, 'must be one word without spaces');

/** The variables of forges; of the two credentials for GitHub, the app goes first. */
export const forgeVariables = z.object({
  GITHUB_TOKEN: tokenText.optional(),
  GITHUB_API_URL: httpAddress.default('https://api.github.com'),
  GITHUB_APP_ID: tokenText.optional(),
  GITHUB_APP_PRIVATE_KEY_FILE: z.string().optional(),
  GITLAB_TOKEN: tokenText.optional(),
  GITLAB_URL: httpAddress.default('https://gitlab.com'),
  GITEA_TOKEN: tokenText.optional(),
  GITEA_URL: httpAddress.optional(),
});
type ForgeEnvironment = z.infer<typeof forgeVariables>;

/** Returns the servers that the variables name. Throws ConfigError. */
export function forgesOf(env: ForgeEnvironment): ForgeServers {
  const { GITHUB_TOKEN: token = null, GITLAB_TOKEN: gitlab, GITEA_TOKEN: gitea, GITEA_URL: giteaUrl } = env;
  const app = githubAppOf(env);
  if (gitea !== undefined && giteaUrl === undefined)
    throw new ConfigError('GITEA_URL is missing. Set it to the address of the Gitea server that GITEA_TOKEN is for.');
  return {
    github: { apiUrl: env.GITHUB_API_URL, token, app },
    gitlab: gitlab === undefined ? null : { url: env.GITLAB_URL, token: gitlab },
    gitea: gitea === undefined || giteaUrl === undefined ? null : { url: giteaUrl, token: gitea },
  };
}

function githubAppOf(env: ForgeEnvironment): GithubApp | null {
  const { GITHUB_APP_ID: appId, GITHUB_APP_PRIVATE_KEY_FILE: file } = env;
  if (appId === undefined && file === undefined) return null;
  if (appId === undefined || file === undefined)
    throw new ConfigError('A GitHub App needs both GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY_FILE.');
  try {
    return { appId, privateKey: readPrivateKey(file) };
  } catch (cause) {
    throw new ConfigError('GITHUB_APP_PRIVATE_KEY_FILE must name a readable file with a private key in PEM form.', {
      cause,
    });
  }
}

/** Converts to PKCS#8, which WebCrypto needs; GitHub issues PKCS#1. */
function readPrivateKey(file: string): string {
  const key = createPrivateKey(readFileSync(file));
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns the secrets among the settings of forges. */
export function tokensOf({ github, gitlab, gitea }: ForgeServers): string[] {
  const values = [github?.token, github?.app?.privateKey, gitlab?.token, gitea?.token];
  return values.filter((value) => typeof value === 'string');
}
