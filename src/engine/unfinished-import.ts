/**
 * In `lastIntentId` of an imported account that waits for its factors and identities. Until they are there it is
 * disabled: a crash leaves one that no caller can use, and the next import of the row completes it, unless the host
 * itself enabled or disabled it meanwhile.
 */
export const unfinishedImport = 'import'
