import { describe, expect, it, vi } from 'vitest';
import { findIdentifiers, isIdentifier, termsOfIdentifier } from '../../../../search/build/identifiers.ts';
import { stem } from '../../../../search/build/words.ts';
import { termOf, termsOf } from '../../../../search/build/words.ts';
import { anyCharacter, fc } from '../../../support/properties.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('stem', () => {
  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['motoring', 'motor'],
    ['conflated', 'conflat'],
    ['hopping', 'hop'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['relational', 'relat'],
    ['triplicate', 'triplic'],
    ['adoption', 'adopt'],
    ['generalizations', 'gener'],
    ['controll', 'control'],
    ['configuration', 'configur'],
    ['größe', 'größe'],
  ])('reduces %s to %s', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });
});

describe('terms of prose', () => {
  it('are stems without stop words', () => {
    expect(termsOf('How do the Requests get retried?')).toEqual(['request', 'retri']);
  });

  it('fold case, accents and width', () => {
    expect(termsOf('Café ＡＰＩ ÜBER')).toEqual(['cafe', 'api', 'uber']);
    expect(termsOf('⑴ ⒈ ½ 安⑴')).toEqual(['1', '1', '12', '安', '1']);
  });

  it('are pairs of letters in a script without spaces', () => {
    expect(termsOf('安装文档')).toEqual(['安装', '装文', '文档']);
    expect(termsOf('使用API创建')).toEqual(['使用', 'api', '创建']);
  });

  it('contain nothing that the index would parse as syntax', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        expect(termsOf(text, { stopWords: true }).filter((term) => !/^[^\s"'()*:^]+$/u.test(term))).toEqual([]);
      }),
    );
  });
});

describe('identifiers', () => {
  const terms = (text: string) => findIdentifiers(text, { inCode: false }).flatMap(termsOfIdentifier);

  it.each([
    ['createOrganization', ['createorgan', 'creat', 'organ']],
    ['max_steps', ['maxstep', 'max', 'step']],
    ['HTTPServer2', ['httpserver2', 'http', 'server', '2']],
    ['--dry-run', ['dryrun', 'dry', 'run', '--dry-run']],
    ['-v', ['v', '-v']],
    ['1.2.3', ['1.2.3']],
  ])('include the whole and the parts of %s', (text, expected) => {
    expect(terms(`call ${text} now`)).toEqual(expected);
  });

  it('include the segments of a dotted name', () => {
    expect(terms('client.workflow.signalWithStart()')).toEqual(
      expect.arrayContaining(['signalwithstart', 'signal', 'start', 'workflow']),
    );
  });

  it('are the same however they are written', () => {
    expect(termOf('create_organization')).toBe(termOf('createOrganization'));
  });

  it.each(['organization', 'The', 'API', '2024'])('do not include %s in prose', (text) => {
    expect(isIdentifier(text)).toBe(false);
  });
});
