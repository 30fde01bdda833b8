import { expect, it } from 'vitest';
import { contactSchema, nameSchema } from '../../../../lib/inputs/administration.ts';

it.each(['\u200b', '\u2060\ufeff \u200d', '\u00ad'])('refuses an invisible name: %j', (name) => {
  expect(nameSchema.safeParse(name).success).toBe(false);
});

it.each(['a', ' docs ', '\u{1f468}\u200d\u{1f469}', '\u0646\u0627\u0645'])('accepts the name %j', (name) => {
  expect(nameSchema.parse(name)).toBe(name.trim());
});

it.each([
  ['https://example.com/help', 'https://example.com/help'],
  ['https://example.com/a(b)?c=<d>', 'https://example.com/a%28b%29?c=%3Cd%3E'],
  ['mailto:help@example.com?subject=(Docs)', 'mailto:help@example.com?subject=%28Docs%29'],
])('accepts the contact %j', (contact, url) => {
  expect(contactSchema.parse(contact)).toBe(url);
});

it.each([
  'http://example.com',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://a:b@example.com',
  'https://',
  'mailto:help',
  'mailto:a@b.example,c@d.example',
  'help@example.com',
  '',
])('refuses the contact %j', (contact) => {
  expect(contactSchema.safeParse(contact).success).toBe(false);
});
