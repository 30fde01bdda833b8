import type { ReactNode } from 'react';
import { hrefOf } from '../addresses.ts';

/** How links of an answer open. */
export interface LinkTarget {
  /** Base of relative links: the URL of the documentation. */
  pagesUrl: string;
  /** Returns where a link leads, in a new tab; null for nowhere. Without it, links are resolved against `pagesUrl`. */
  resolve?(address: string): string | null;
  /** Called when a link opens in this tab, before the browser follows it. */
  onFollow?(): void;
}

interface PageLinkProps {
  address: string;
  target: LinkTarget;
  className?: string;
  /** Names a link whose text says too little. */
  label?: string;
  /** Changes the address once it is known to be safe. */
  refine?(href: string): string;
  children: ReactNode;
}

/** Links to a page: of the site itself in this tab, others in a new one. An unsafe link is only its text. */
export function PageLink({ address, target, className, label, refine, children }: PageLinkProps) {
  const { pagesUrl, resolve = (address: string) => hrefOf(address, pagesUrl) } = target;
  const href = address === '' ? null : resolve(address);
  if (href === null) return <span className={className}>{children}</span>;
  const isHere = target.resolve === undefined && new URL(href).origin === location.origin;
  return (
    <a
      className={className}
      aria-label={label}
      title={label}
      href={refine?.(href) ?? href}
      {...(isHere ? { onClick: target.onFollow } : { target: '_blank', rel: 'noopener noreferrer nofollow' })}
    >
      {children}
    </a>
  );
}
