import { count, plural } from '../../format.ts';
import { beginning, plain } from '../../plain.ts';
import { Copy } from '../../components/copy.tsx';

/** Number of characters shown of a text. */
const maxShownLength = 50_000;

/** Shows a text of the step inspector with its length, to copy. */
export function InspectedText({ title, text }: { title: string; text: string }) {
  const { shown, left } = beginning(plain(text), maxShownLength);
  return (
    <>
      <p className="inspector-text-head">
        {title} <span className="quiet">{plural(text.length, 'character')}</span>{' '}
        <Copy label={title.toLowerCase()} text={text} />
      </p>
      <pre tabIndex={0}>{shown}</pre>
      {left > 0 && <p className="hint">{count(left)} more characters not shown. Copy has all of them.</p>}
    </>
  );
}
