const peopleOnly: readonly string[] = ['super_admin', 'administrator']

/**
 * Whether a role is one that no service account may ever have. Roles that read alike are
 * alike: by the trimmed, lower-cased name.
 */
export function isPeopleOnlyRole(role: string): boolean {
  return peopleOnly.includes(role.trim().toLowerCase())
}
