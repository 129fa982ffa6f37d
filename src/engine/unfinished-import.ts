/**
 * In `lastIntentId` of an imported account that waits for its factors and identities. Until they are there it is
 * disabled, and the host cannot enable it: a crash leaves an account that no caller can use, and the next import of
 * the row completes it.
 */
export const unfinishedImport = 'import'

/** In its place once the host disabled the account: the import that completes it leaves it disabled. */
export const disabledImport = 'import disabled'

/** Whether an import of the account was cut off, or is under way. */
export function isUnfinishedImport({ enabled, lastIntentId }: Marked): boolean {
  return !enabled && (lastIntentId === unfinishedImport || lastIntentId === disabledImport)
}

interface Marked {
  readonly enabled: boolean
  readonly lastIntentId: string | null
}
