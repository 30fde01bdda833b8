import { describe, expect, it } from 'vitest';
import { isAllowedImage, parseAllowedImages, parseImageName } from '../../../../lib/inputs/image-name.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('the name of an image', () => {
  it.each([
    ['python', 'docker.io/library/python:latest'],
    ['python:3.13', 'docker.io/library/python:3.13'],
    ['acme/tools', 'docker.io/acme/tools:latest'],
    ['ghcr.io/acme/tools:v1', 'ghcr.io/acme/tools:v1'],
    ['localhost:5000/tools', 'localhost:5000/tools:latest'],
    [`python:3.13@${digest}`, `docker.io/library/python@${digest}`],
    ['oci-archive:tools.tar', 'oci-archive:tools.tar'],
  ])('is read as Docker does: %s', (text, whole) => {
    expect(parseImageName(text)?.text).toBe(whole);
  });

  it.each([
    '',
    '-v',
    '--root',
    'Python',
    'a b',
    'a//b',
    '../a',
    'a:',
    'a@sha256:1',
    `a@${digest}@${digest}`,
    'oci-archive:../a',
    'oci-archive:/etc/a',
    'oci-archive:',
    'docker://python',
    'https://ghcr.io/a',
    'a\n',
    'x'.repeat(600),
  ])('is refused: %j', (text) => {
    expect(parseImageName(text)).toBeNull();
  });
});

describe('the images that jobs may use', () => {
  const isAllowed = (list: string, name: string) => isAllowedImage(parseAllowedImages(list)!, parseImageName(name)!);

  it.each([
    ['python', 'python:3.13', true],
    ['python', `python@${digest}`, true],
    ['python', 'acme/python', false],
    ['python', 'ghcr.io/library/python', false],
    ['python:3.13', 'python:3.13', true],
    ['python:3.13', 'python:3.12', false],
    [`python@${digest}`, `python@${digest}`, true],
    [`python@${digest}`, 'python', false],
    ['ghcr.io/acme/*', 'ghcr.io/acme/a/b:1', true],
    ['ghcr.io/acme/*', 'ghcr.io/acme-evil/a', false],
    ['localhost:5000/*', 'localhost:5000/a', true],
    ['oci-archive:*', 'oci-archive:a.tar', true],
    ['oci-archive:a.tar', 'oci-archive:b.tar', false],
    ['', 'python', false],
  ])('are listed: %s has %s: %s', (list, name, allowed) => {
    expect(isAllowed(list, name)).toBe(allowed);
  });

  it('are refused if one of them is invalid', () => {
    for (const list of ['*', 'python, ?', '/*', 'acme/*', 'ghcr.io/../*']) expect(parseAllowedImages(list)).toBeNull();
  });
});
