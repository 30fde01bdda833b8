import { Button } from 'react-aria-components';
import { Problem } from './fields.tsx';

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage(): Promise<unknown>;
}

/** Shows a button that loads the next page of a list while there is one. */
export function NextPage({ list, label }: { list: Pages; label: string }) {
  if (!list.hasNextPage) return null;
  return (
    <>
      {list.isFetchNextPageError && <Problem error={list.error} />}
      <Button
        className="button next-page"
        isDisabled={list.isFetchingNextPage}
        onPress={() => void list.fetchNextPage()}
      >
        {label}
      </Button>
    </>
  );
}
