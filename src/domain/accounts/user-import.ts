import { allTried } from '../../concurrency/promises.js'
import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { isStorable } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import type { Act } from '../context/actor.js'
import { reasonOf } from '../context/reason-of.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import { type AccountImportDeps, conflictOf, createAccountImport } from './account-import.js'
import type { ImportBatch, ImportReport, ImportResult } from './import-batch.js'
import { type ImportRow, type RefusedRow, readImportRow, refusal } from './read-import-row.js'

export interface UserImportDeps
  extends AccountImportDeps,
    Pick<SurfaceContext, 'settings' | 'emit'> {
  readonly passwords: Pick<PasswordHashes, 'judge'>
}

const mostRows = 10_000
/** Rows that are written side by side. */
const atOnce = 8

/** Imports a batch, and tells of it once. */
export async function importUsers(
  deps: UserImportDeps,
  batch: ImportBatch,
  act: Act,
): Promise<ImportReport> {
  const { actorId, source } = act
  const isDryRun = batch?.dryRun === true
  try {
    const report = reportOf(await importRows(deps, batch))
    if (isDryRun) return report
    const { results: _, ...counts } = report
    deps.emit('account.imported', source, { actorId, ...counts })
    return report
  } catch (error) {
    if (isDryRun) throw error
    deps.emit('account.importFailed', source, { actorId, reason: reasonOf(error) })
    throw error
  }
}

async function importRows(
  deps: UserImportDeps,
  batch: ImportBatch,
): Promise<readonly ImportResult[]> {
  const { users, allowRoles, dryRun } = batchOf(batch)
  const rules = entryRules(deps.surface, await deps.settings())
  const now = deps.clock.now()
  const place = createAccountImport(deps, dryRun)
  const isRepeated = repetitions()

  async function importOne(given: unknown): Promise<ImportResult> {
    const row = readImportRow(given, now, allowRoles)
    if ('outcome' in row) return row
    // Synchronous until here, so that of two rows it is the later one that repeats the other.
    if (isRepeated(row)) return conflictOf('duplicate_row')
    const applicant = { email: row.email, acceptedTerms: '' }
    if (entryRefusal('create', rules, { applicant }) !== null) {
      return refusal('email_not_allowed', 'No mail reaches this address.')
    }
    return (await hashRefusal(deps, row)) ?? place(row)
  }

  const results: ImportResult[] = []
  for (let start = 0; start < users.length; start += atOnce) {
    results.push(...(await allTried(users.slice(start, start + atOnce).map(importOne))))
  }
  return results
}

async function hashRefusal(
  { passwords }: UserImportDeps,
  { passwordHash }: ImportRow,
): Promise<RefusedRow | null> {
  const verdict = passwordHash === null ? 'checkable' : await passwords.judge(passwordHash)
  if (verdict === 'checkable') return null
  return verdict === 'tooCostly'
    ? refusal('hash_too_costly', 'The hash costs more than a login may.')
    : refusal('hash_not_supported', 'No format of legacyHashes and no verifier reads this hash.')
}

/** Whether a row shares what only one account can have with a row before it. */
function repetitions(): (row: ImportRow) => boolean {
  const seen = new Set<string>()
  return ({ id, email, identities }) => {
    const keys = [
      ...(id === null ? [] : [`id ${id}`]),
      `email ${email}`,
      ...identities.map((one) => JSON.stringify([one.provider, one.issuer, one.subject])),
    ]
    const isRepeated = keys.some((key) => seen.has(key))
    for (const key of keys) seen.add(key)
    return isRepeated
  }
}

function batchOf({
  users,
  allowRoles = [],
  dryRun = false,
  ...rest
}: ImportBatch): Required<ImportBatch> {
  const problem =
    (Object.keys(rest).length > 0 && 'members are users, allowRoles and dryRun, and no others.') ||
    (!(Array.isArray(users) && users.length <= mostRows) &&
      'users must be an array of at most 10,000 rows.') ||
    (!(Array.isArray(allowRoles) && allowRoles.every(isStorable)) &&
      'allowRoles must be an array of texts.') ||
    (typeof dryRun !== 'boolean' && 'dryRun must be true or false.')
  if (problem) throw new AuthError('invalid_request', { detail: `An import's ${problem}` })
  return { users, allowRoles, dryRun }
}

function reportOf(results: readonly ImportResult[]): ImportReport {
  const count = (wanted: ImportResult['outcome']) =>
    results.filter(({ outcome }) => outcome === wanted).length
  return {
    created: count('created') + count('creatable'),
    skipped: count('skipped'),
    conflicts: count('conflict'),
    refused: count('refused'),
    results,
  }
}
