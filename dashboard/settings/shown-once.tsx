import { Button } from 'react-aria-components';
import { useCopy } from '../components/copy.tsx';

/** Shows a secret that is displayed only once. */
export function ShownOnce({ secret }: { secret: string }) {
  const { isCopied, copy } = useCopy();
  return (
    <div className="note shown-once" role="status">
      <p>Copy it now. It is not shown again.</p>
      <div className="shown-once-secret">
        <code>{secret}</code>
        <Button className="button" onPress={() => copy(secret)}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </div>
    </div>
  );
}
