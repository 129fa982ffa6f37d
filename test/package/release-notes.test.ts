import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addedBy, releasedChangelog } from '../../tools/release/released-changelog.js'
import { cloneRepository, command } from '../support/package/packed-package.js'

const temporary = mkdtempSync(join(tmpdir(), 'postern-release-'))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

/** Each file of `.changeset` that a release lists: its kind of change, and its first line. */
function changesetsIn(clone: string): readonly { readonly kind: string; readonly line: string }[] {
  const folder = join(clone, '.changeset')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const [, kind = `no kind in ${name}`, line = ''] =
        /^---\n['"]postern['"]: (\w+)\n---\n\n(.+)\n/.exec(text) ?? []
      return { kind, line }
    })
}

describe('a release of what is here', () => {
  let clone: string
  let before: { readonly version: string; readonly changesets: ReturnType<typeof changesetsIn> }
  const read = (name: string): string => readFileSync(join(clone, name), 'utf8')
  const versionIn = (name: string): unknown => JSON.parse(read(name)).version

  beforeAll(async () => {
    clone = cloneRepository(temporary)
    const planted = "---\n'postern': minor\n---\n\nA planted change.\n"
    writeFileSync(join(clone, '.changeset/planted.md'), planted)
    before = { version: String(versionIn('package.json')), changesets: changesetsIn(clone) }
    const git = (...args: string[]) => command(clone, 'git', ...args)
    await git('init', '--quiet')
    await git('add', '.changeset', 'CHANGELOG.md')
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    await git(...author, 'commit', '--quiet', '--message', 'what is here')
    await command(clone, 'npm', 'run', '--silent', 'version')
  })

  it('has the next version, in the lockfile too', () => {
    const next = versionIn('package.json')
    expect(next).not.toBe(before.version)
    if (before.version === '0.0.0') expect(next).toBe('0.1.0')
    const lock = JSON.parse(read('package-lock.json'))
    expect([lock.version, lock.packages[''].version]).toEqual([next, next])
  })

  it('spends every changeset, of which each says minor or patch', () => {
    expect(before.changesets.map(({ kind }) => kind)).not.toContain('major')
    expect(before.changesets.filter(({ kind }) => !/^(minor|patch)$/.test(kind))).toEqual([])
    expect(changesetsIn(clone)).toEqual([])
  })

  it('has one entry in the changelog, first, with an introduction and every change', () => {
    const text = read('CHANGELOG.md')
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings[0]).toBe(versionIn('package.json'))
    expect(new Set(headings).size).toBe(headings.length)
    expect(text).not.toMatch(/unreleased$/im)
    const entry = text.slice(text.indexOf('\n## ')).split('\n## ')[1] ?? ''
    expect(entry.indexOf('### Minor Changes')).toBeGreaterThan(0)
    if (before.version === '0.0.0') {
      expect(entry.indexOf('The first release.')).toBeLessThan(entry.indexOf('### Minor Changes'))
      expect(entry).toContain('### Upgrading from an earlier commit')
    }
    const missing = before.changesets.filter(({ line }) => !entry.includes(line))
    expect(missing).toEqual([])
    expect(entry).toContain('A planted change.')
  })
})

describe('the changelog of a release', () => {
  const preface = '# Changelog\n\nNewest first.\n'
  const entries = '## 0.3.0\n\n### Patch Changes\n\n- one'

  it('puts what stood under Unreleased above the list, and leaves older releases', () => {
    const before = `${preface}\n## Unreleased\n\nRead this.\n\n## 0.2.0\n\n- old\n`
    const after = `${preface}\n## 0.3.0\n\nRead this.\n\n### Patch Changes\n\n- one\n\n## 0.2.0\n\n- old\n`
    expect(releasedChangelog(before, entries)).toBe(after)
  })

  it('has the list alone where nothing stood there', () => {
    const before = `${preface}\n## 0.2.0\n\n- old\n`
    const after = `${preface}\n${entries}\n\n## 0.2.0\n\n- old\n`
    expect(releasedChangelog(before, entries)).toBe(after)
  })

  it('is refused where the tool did something else than to add', () => {
    const before = `${preface}\n## 0.2.0\n`
    expect(addedBy(before, `# Changelog\n\n${entries}\n\nNewest first.\n\n## 0.2.0\n`)).toBe(
      entries,
    )
    expect(() => addedBy(before, '# Changelog\n\nNewest last.\n')).toThrow(/changed more/)
    expect(() => releasedChangelog(before, 'no heading')).toThrow(/heads no release/)
  })
})
