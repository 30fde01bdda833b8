import type { ReactNode } from 'react';
import { hrefOf } from '../addresses.ts';

/** How links of an answer open. */
export interface LinkTarget {
  /** Base of relative links: the URL of the documentation. */
  pagesUrl: string;
  /** Called when a link opens in this tab, before the browser follows it. */
  onFollow?(): void;
}

interface PageLinkProps {
  address: string;
  target: LinkTarget;
  className?: string;
  /** Changes the address once it is known to be safe. */
  refine?(href: string): string;
  children: ReactNode;
}

/** Links to a page: of the site itself in this tab, of others in a new one. An unsafe link is only its text. */
export function PageLink({ address, target, className, refine, children }: PageLinkProps) {
  const href = address === '' ? null : hrefOf(address, target.pagesUrl);
  if (href === null) return <span className={className}>{children}</span>;
  const isHere = new URL(href).origin === location.origin;
  return (
    <a
      className={className}
      href={refine?.(href) ?? href}
      {...(isHere ? { onClick: target.onFollow } : { target: '_blank', rel: 'noopener noreferrer nofollow' })}
    >
      {children}
    </a>
  );
}
