import { StartError } from '../start-error.ts';

/**
 * Downloads of a first start and their expected hashes. Update a version together with its hashes: `checksums.txt` of
 * https://github.com/temporalio/cli/releases lists those of the Temporal CLI, and
 * https://sum.golang.org/lookup/golang.org/toolchain@v0.0.1-go<version>.<platform> has that of a toolchain.
 */

/** Release that `temporal-cli/go.mod` names, with the SHA-256 of `temporal_cli_<version>_<platform>.tar.gz`. */
export const temporalRelease = {
  version: '1.8.2',
  hashes: {
    'linux-amd64': 'd8421bda989e6514b4bdb4d63a9012a8a05a806892e881a5aad8510496349a94',
    'linux-arm64': '83600a8fac6e3da54093e5da6918d399f501532b9f1172235603f9606f4ac6e4',
    'darwin-amd64': '489d7f5420cae02b559774ac23df035141954c33a51dba96f5759a0ddccdf1b6',
    'darwin-arm64': 'dacdc3587682c04cf27e67c8878ca2d755230b6ad63c0c6ebddd7348ae90ed94',
  },
};

/**
 * Go version, at least the one that `temporal-cli/go.mod` requires, with hashes of the module's files in go.sum's
 * format.
 */
export const goToolchain = {
  version: '1.26.10',
  hashes: {
    'linux-amd64': 'h1:5VAGHlY8yl8pTPVSNIez3SNMy6fWabs+QMR25f3oMT0=',
    'linux-arm64': 'h1:TuAzKmE5TqYnXpnhgY3GtBJCVg4AfNDA/K1gLyX5Hig=',
    'darwin-amd64': 'h1:0JApOD+sH1DW6WwvTcnIvl6MSylguxhQuhTbt6RJ1uo=',
    'darwin-arm64': 'h1:SfEWw1me2He9ojf4S+M6xTnGOP6CosVO88yaBsEgjJ0=',
  },
};

const architectures = new Map([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
]);
const platforms = ['linux-amd64', 'linux-arm64', 'darwin-amd64', 'darwin-arm64'] as const;

/** Returns the platform of this machine by the name that Go and Temporal use. */
export function pinnedPlatform(): (typeof platforms)[number] {
  const name = `${process.platform}-${architectures.get(process.arch) ?? process.arch}`;
  const platform = platforms.find((candidate) => candidate === name);
  if (platform === undefined)
    throw new StartError(`there is no download for ${name}, only for ${platforms.join(', ')}`);
  return platform;
}
