/** What the token of a project is sealed for. */
export function projectCredentialOwner(projectId: string): string {
  return `project-credential/${projectId}`;
}

/** What the private key of a project is sealed for. */
export function projectSshKeyOwner(projectId: string): string {
  return `project-ssh-key/${projectId}`;
}
