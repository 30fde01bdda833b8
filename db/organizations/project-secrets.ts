/** Purpose under which a project's token is encrypted. */
export function projectCredentialOwner(projectId: string): string {
  return `project-credential/${projectId}`;
}

/** Purpose under which a project's private key is encrypted. */
export function projectSshKeyOwner(projectId: string): string {
  return `project-ssh-key/${projectId}`;
}

/** Purpose under which a secret of a project's setup is encrypted. */
export function projectSecretOwner(secretId: string): string {
  return `project-secret/${secretId}`;
}

/** Purpose under which the credentials of a project's MCP servers are encrypted. */
export function projectToolsOwner(projectId: string): string {
  return `project-tools/${projectId}`;
}
