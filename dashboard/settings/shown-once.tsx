import { useState } from 'react';
import { Button } from 'react-aria-components';

/** Shows a secret that is displayed only once. */
export function ShownOnce({ secret }: { secret: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="note shown-once" role="status">
      <p>Copy it now. It is not shown again.</p>
      <div className="shown-once-secret">
        <code>{secret}</code>
        <Button
          className="button"
          onPress={() => {
            void navigator.clipboard.writeText(secret).then(() => setCopied(true));
          }}
        >
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </div>
    </div>
  );
}
