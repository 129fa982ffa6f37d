export interface ContractChanges {
  /** What callers relied on and is not so any more, or what they must send now and did not before. */
  readonly broken: readonly string[]
  readonly added: readonly string[]
}

/** Tells what may be released within `/v1/` (G-19) from what may not. */
export function contractChanges(
  before: readonly string[],
  after: readonly string[],
): ContractChanges {
  const known = new Set(before)
  const kept = new Set(after)
  const gone = before.filter((entry) => !kept.has(entry))
  const fresh = after.filter((entry) => !known.has(entry))
  const owners = new Set(before.map(ownerOf))
  const demanded = fresh.filter((entry) => {
    const form = demandedBy(entry)
    // A new operation, or a new form of a body beside the others, asks nothing of who calls already.
    return form !== null && owners.has(ownerOf(entry)) && (!form.includes('{') || known.has(form))
  })
  return {
    broken: [
      ...gone.map((entry) => `gone or changed: ${entry}`),
      ...demanded.map((entry) => `newly demanded: ${entry}`),
    ],
    added: fresh.filter((entry) => !demanded.includes(entry)),
  }
}

function ownerOf(entry: string): string {
  return entry.slice(0, entry.indexOf(':'))
}

/** `login: takes`, where the entry is a member that has to be sent; null for any other entry. */
function demandedBy(entry: string): string | null {
  return /^(\w+: takes(?: \{[^}]*\})?) [^?{:]+: /.exec(entry)?.[1] ?? null
}
