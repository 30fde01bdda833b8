import { expect, it } from 'vitest';
import { writeCsv } from '../../../../api/analytics/write-csv.ts';
import { fc } from '../../../support/properties.ts';

/** Reads CSV as RFC 4180 describes it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        cell += text[at];
        if (text[at] === '"') at += 1;
      }
      at += 1;
    } else for (; !',\r'.includes(text[at]!); at += 1) cell += text[at];
    row.push(cell);
    if (text[at] === ',') at += 1;
    else {
      rows.push(row);
      row = [];
      at += 2;
    }
  }
  return rows;
}

it('keeps every text and number, with at most an apostrophe before a text', () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('=1+1', '"', 'a,b', '\r\n', ' x', "'"), fc.nat());
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), (rows) => {
      const read = readCsv(writeCsv(['one', 'other'], rows));
      expect(read).toHaveLength(rows.length + 1);
      for (const [at, row] of rows.entries())
        for (const [column, value] of row.entries())
          expect([String(value), `'${value}`]).toContain(read[at + 1]?.[column]);
    }),
  );
});

it('leaves no text that a spreadsheet runs as a formula', () => {
  const attacks = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\n=1', '|cmd', '%0A'];
  const read = readCsv(
    writeCsv(
      ['text'],
      attacks.map((text) => [text]),
    ),
  );
  expect(read.slice(1)).toEqual(attacks.map((text) => [`'${text}`]));
  expect(
    writeCsv(
      ['text', 'number'],
      [
        ['guides/a-b', -5],
        ['', null],
      ],
    ),
  ).toBe('text,number\r\nguides/a-b,-5\r\n,\r\n');
});
