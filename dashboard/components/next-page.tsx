import { Button } from 'react-aria-components';

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): Promise<unknown>;
}

/** Shows a button that loads the next page of a list while there is one. */
export function NextPage({ list, label }: { list: Pages; label: string }) {
  if (!list.hasNextPage) return null;
  return (
    <Button className="button next-page" isDisabled={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
      {label}
    </Button>
  );
}
