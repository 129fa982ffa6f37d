/** What `changeset version` puts below the title: the heading of a release, and its list. */
export function addedBy(before: string, after: string): string {
  const [title = '', ...rest] = before.split('\n')
  const tail = rest.join('\n')
  if (!after.startsWith(`${title}\n`) || !after.endsWith(tail)) {
    throw new Error('CHANGELOG.md: changeset version changed more than it added below the title')
  }
  return after.slice(title.length, after.length - tail.length).trim()
}

const unreleased = '## Unreleased\n'

/**
 * The changelog with a new release: below the preface, its heading, then what stood under "Unreleased", then the
 * list. `entries` begins with the heading.
 */
export function releasedChangelog(before: string, entries: string): string {
  const [preface = '', ...sections] = before.split(/^(?=## )/m)
  const [first = ''] = sections
  const isTold = first.startsWith(unreleased)
  const told = isTold ? first.slice(unreleased.length) : ''
  const older = sections.slice(isTold ? 1 : 0).join('')
  const [heading = '', ...list] = entries.split('\n')
  if (!/^## \d/.test(heading)) throw new Error(`CHANGELOG.md: "${heading}" heads no release`)
  const parts = [preface, heading, told, list.join('\n'), older].map((part) => part.trim())
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}
