import type { Mutation } from '../list.ts';

const images = { project: 'integration', tests: ['images/images'] } as const;
const packages = { project: 'integration', tests: ['sandbox/packages'] } as const;
const filter = { project: 'unit', tests: ['activities/sandbox/seccomp-filter'] } as const;
const inImage = { project: 'integration', tests: ['sandbox/image'] } as const;
const names = { project: 'unit', tests: ['lib/inputs/image-name'] } as const;

/** Checks on the images that commands run in. */
export const imageMutations: Mutation[] = [
  {
    name: 'an agent is told that owners change',
    file: 'activities/sandbox/seccomp-filter.ts',
    find: '{ isInstaller = false }',
    replace: '{ isInstaller = true }',
    ...filter,
  },
  {
    name: 'a command has System V memory without end',
    file: 'activities/sandbox/seccomp-filter.ts',
    find: '...when(jumpIfGreater, segmentBytes, notPermitted),',
    replace: '',
    ...filter,
  },
  {
    name: 'the files of a package keep the modes that its script chose',
    file: 'activities/images/extend-root.ts',
    find: "'u=rwX,go=rX,a-st'",
    replace: "'u=rwX'",
    ...packages,
  },
  {
    name: 'an installer has files of the worker open',
    file: 'activities/sandbox/bubblewrap.ts',
    find: 'filter(([path]) => !profile.files.includes(path))',
    replace: 'filter(() => false)',
    ...packages,
  },
  {
    name: 'an image has the packages of whoever came first',
    file: 'activities/images/images.ts',
    find: ', ...new Set(packages.toSorted())]',
    replace: ', packages.length > 0]',
    ...packages,
  },
  {
    name: 'a path of an image may lead out of it',
    file: 'activities/images/root-folder.ts',
    find: "names.includes('..') || ",
    replace: '',
    ...images,
  },
  {
    name: 'an absolute link of an image begins at the machine',
    file: 'activities/images/root-folder.ts',
    find: 'if (stat?.isSymbolicLink() === true) {\n        links += 1;',
    replace: 'if (stat?.isSymbolicLink() === true && links < 0) {\n        links += 1;',
    ...images,
  },
  {
    name: 'links of an image may lead in a circle',
    file: 'activities/images/root-folder.ts',
    find: 'if (links > maxLinks) throw',
    replace: 'if (links > 200 * maxLinks) return null;\n        if (links < 0) throw',
    ...images,
  },
  {
    name: 'a file of an image is written through a link',
    file: 'activities/images/root-folder.ts',
    find: 'const place = await emptied(path);\n    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;',
    replace: 'const place = await placeOf(path);\n    const flags = constants.O_WRONLY | constants.O_CREAT;',
    ...images,
  },
  {
    name: 'programs of an image keep the rights of their owner',
    file: 'activities/images/root-folder.ts',
    find: '(mode & 0o111) === 0 ? 0o644 : 0o755',
    replace: 'mode',
    ...images,
  },
  {
    name: 'a removal may name its own folder',
    file: 'activities/images/unpack-layer.ts',
    find: "hidden !== '' && hidden !== '.'",
    replace: "hidden !== '/'",
    ...images,
  },
  {
    name: 'an opaque folder hides what its own layer has',
    file: 'activities/images/unpack-layer.ts',
    find: 'return root.clear(above, written);',
    replace: 'return root.clear(above, new Set());',
    ...images,
  },
  {
    name: 'what a layer decompresses to is not limited',
    file: 'activities/images/unpack-layer.ts',
    find: 'budget.spend({ bytes: chunk.length });',
    replace: '',
    ...images,
  },
  {
    name: 'the files of an image are not counted',
    file: 'activities/images/unpack-layer.ts',
    find: 'budget.spend({ entries: 1 });',
    replace: '',
    ...images,
  },
  {
    name: 'a layer may be compressed twice',
    file: 'activities/images/read-archive.ts',
    find: 'if (isFirst && compressed',
    replace: 'if (!isFirst && compressed',
    ...images,
  },
  {
    name: 'a layer need not be the one that the image names',
    file: 'activities/images/unpack-layer.ts',
    find: "if (`sha256:${hash.digest('hex')}` !== diffId)",
    replace: 'if (diffId.length < 1)',
    ...images,
  },
  {
    name: 'an image may be for another processor',
    file: 'activities/images/image-layout.ts',
    find: "config.os !== 'linux' || config.architecture !== architecture",
    replace: "config.os !== 'linux'",
    ...images,
  },
  {
    name: 'the sandbox mounts its files over what the image has there',
    file: 'activities/images/unpack-root.ts',
    find: 'await root.ensureFile(path);',
    replace: 'void [root.ensureFile, path];',
    ...images,
  },
  {
    name: 'a job may use every image',
    file: 'activities/images/images.ts',
    find: 'if (!isAllowedImage(allowed, name))',
    replace: 'if (!isAllowedImage(allowed, name) && text.length < 1)',
    ...images,
  },
  {
    name: 'an image that a command may run in is removed',
    file: 'activities/images/images.ts',
    find: ' || now() - usedAtMs < keepUsedMs',
    replace: '',
    ...images,
  },
  {
    name: 'an allowed path allows others that begin like it',
    file: 'lib/inputs/image-name.ts',
    find: "const prefix = entry.slice(0, -1);\n    const [registry = '', ...path] = prefix.slice(0, -1).split('/');",
    replace: "const prefix = entry.slice(0, -2);\n    const [registry = '', ...path] = prefix.split('/');",
    ...names,
  },
  {
    name: 'an image sets the proxy and the home of commands',
    file: 'activities/sandbox/profile.ts',
    find: 'filter(([name]) => !own.has(name))',
    replace: 'filter(([name]) => own.size > 0 || name)',
    ...inImage,
  },
];
