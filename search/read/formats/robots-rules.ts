/** The name by which websites address the crawler of Docket. */
export const agentName = 'docket';

export interface RobotsRules {
  mayIndex: boolean;
  mayFollow: boolean;
}

/** Directives whose values may look like other directives, such as `max-image-preview:none`. */
const withValue = /\b(?:max-[a-z-]{1,30}\s{0,5}:\s{0,5}[\w-]{1,30}|unavailable_after\s{0,5}:[^,]{0,100})/g;
const addressed = /^\s*([a-z][\w.-]{0,60})\s{0,5}:/;

/**
 * Reads the directives of a `<meta name="robots">` or of one `X-Robots-Tag` header. Those after the name of another robot
 * (`otherbot: noindex, nofollow`) are left out.
 */
export function robotsRulesOf(text: string): RobotsRules {
  const directives = new Set<string>();
  let isForUs = true;
  for (const part of text.toLowerCase().replaceAll(withValue, '').split(',')) {
    const [head, agent] = addressed.exec(part) ?? [''];
    if (agent !== undefined) isForUs = agent === agentName;
    if (isForUs) for (const directive of part.slice(head.length).trim().split(/\s+/)) directives.add(directive);
  }
  const has = (directive: string) => directives.has(directive) || directives.has('none');
  return { mayIndex: !has('noindex'), mayFollow: !has('nofollow') };
}
