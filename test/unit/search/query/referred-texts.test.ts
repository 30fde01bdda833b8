import { describe, expect, it } from 'vitest';
import { referredTexts } from '../../../../search/query/referred-texts.ts';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describe('a question', () => {
  it.each([
    'And on Windows?',
    '… and GitLab?',
    'What about Java?',
    'How do I undo that?',
    'Is it retried?',
    'Und auf Windows?',
    'Geht das auch mit GitLab?',
    'Wie schalte ich sie ab?',
    'Et avec GitLab ?',
    'Comment les désactiver ?',
    'Peut-on faire cela au survol ?',
    '¿Y con GitLab?',
    '¿Cómo la desactivo?',
    '¿Puedo mantenerla en secreto?',
    'E no Windows?',
    'Isso funciona com GitLab?',
    'Posso usá-lo com Nginx?',
    'それを無効にするには？',
    'Windowsでは？',
    '怎么关闭它？',
    '那 GitLab 呢？',
  ])('needs the one before it: %s', (question) => {
    expect(referredTexts(question, ['first subject', 'second subject'])).toEqual(['second subject']);
  });

  it.each([
    'How do I rotate the encryption key?',
    'push_rejected',
    'android and items',
    '',
    'Welche Limits gibt es?',
    'Wie kann ich das Projekt löschen?',
    'Was muss ich tun, damit der Server startet?',
    'Y a-t-il une limite de taille ?',
    'Quelle est la taille maximale pour le répertoire ?',
    '¿Qué es una isla?',
    'O que é o Astro?',
    'Qual é o tamanho das imagens?',
    'その他の設定はどこですか？',
    '其他设置在哪里？',
  ])('names its own subject: %s', (question) => {
    expect(referredTexts(question, ['first subject'])).toEqual([]);
  });

  it('needs those before it until one names its subject, at most three', () => {
    expect(referredTexts('and now?', ['install', 'start', 'and on Linux?'])).toEqual(['start', 'and on Linux?']);
    expect(referredTexts('and now?', ['a', 'and b', 'and c', 'and d'])).toEqual(['and b', 'and c', 'and d']);
    expect(referredTexts('and now?', [])).toEqual([]);
  });
});

describe('the words that a question refers to', () => {
  const index = indexOf(temporaryDirectory(), [
    buildPage({ path: 'windows', content: 'Windows is not supported. Windows has no such shell.' }),
    buildPage({ path: 'uninstall', content: 'Uninstall the widget on Windows with the control panel.' }),
    buildPage({ path: 'panel', content: 'The control panel of the widget.' }),
  ]);
  const find = (query: string, referred?: string[]) =>
    index.search({ query, limit: 3, referred }).map(({ path }) => path);

  it('count less than its own', () => {
    expect(find('and on Windows?')[0]).toBe('windows');
    expect(find('and on Windows?', ['How do I uninstall the widget?'])[0]).toBe('uninstall');
    expect(find('What is the panel of the widget?', ['shell'])[0]).toBe('panel');
  });

  it('change nothing when there are none', () => {
    const search = { query: 'and on Windows?', limit: 3 };
    expect(index.search({ ...search, referred: [] })).toEqual(index.search(search));
  });
});
