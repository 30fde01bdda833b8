const namedLikeSecrets = /(?:KEY|KEYS|TOKEN|SECRET|PASSWORD|PEPPER|HEADERS)$/;
const minLength = 8;

/** Returns the secret values in a process's environment: variables with secret names, and passwords in addresses. */
export function secretsOfEnvironment(env: NodeJS.ProcessEnv): string[] {
  const values = Object.entries(env).flatMap(([name, value = '']) => {
    if (namedLikeSecrets.test(name)) return value.split(',').flatMap((part) => [part, part.split(/[:=]/).at(-1) ?? '']);
    const password = URL.parse(value)?.password ?? '';
    return password === '' ? [] : [password, decoded(password)];
  });
  return [...new Set(values.map((value) => value.trim()))].filter((value) => value.length >= minLength);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
