import { isPackageName } from './environment.ts';

const install = /^(?:sudo +)?(?:DEBIAN_FRONTEND=noninteractive +)?apt(?:-get)? ([\w.+:=~ -]+)$/;
const options = new Set(['-y', '-q', '-qq', '-yq', '-yqq', '--yes', '--assume-yes', '--no-install-recommends']);
const feature =
  /^ghcr\.io\/(?:rocker-org\/devcontainer-features|devcontainers-(?:extra|contrib)\/features)\/apt(?:-get)?-packages(?::[\d.]+|:latest)?$/;

/** Returns the packages that a shell script installs; null if it does anything but update and install with apt-get. */
export function packagesOfScript(script: string): string[] | null {
  const lines = script.replaceAll('\\\n', ' ').split('\n');
  const commands = lines.filter((line) => !/^\s*#/.test(line)).flatMap((line) => line.split(/&&|;/));
  return whole(
    commands.map((command) => command.trim()).filter((command) => command !== ''),
    (command) => {
      const words = install.exec(command)?.[1]?.trim().split(/ +/) ?? [];
      const [verb, ...names] = words.filter((word) => !options.has(word));
      if (verb === 'update' && names.length === 0) return [];
      return verb === 'install' && names.every(isPackageName) ? names : null;
    },
  );
}

/** Returns the packages that the features of a development container install; null if there are other features. */
export function packagesOfFeatures(features: unknown): string[] | null {
  if (typeof features !== 'object' || features === null) return null;
  return whole(Object.entries(features), ([name, settings]) => {
    const { packages, ...more } = settings ?? {};
    if (!feature.test(name) || typeof packages !== 'string' || Object.keys(more).length > 0) return null;
    const names = packages.split(',').map((one) => one.trim());
    return names.every(isPackageName) ? names : null;
  });
}

/** Returns the packages of all parts; null if one of them was not understood. */
function whole<Part>(parts: Part[], read: (part: Part) => string[] | null): string[] | null {
  const found = parts.map(read);
  return found.includes(null) ? null : found.flatMap((names) => names ?? []);
}
