import { Button } from 'react-aria-components';

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): Promise<unknown>;
}

/** Asks for the next page of a list, while there is one. */
export function Earlier({ list }: { list: Pages }) {
  if (!list.hasNextPage) return null;
  return (
    <Button className="button earlier" isDisabled={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
      Earlier
    </Button>
  );
}
