import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'

const root = new URL('../', import.meta.url)
const page = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8')
const folders = (path: string) =>
  readdirSync(new URL(path, root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

interface Cruising {
  readonly forbidden: readonly { readonly name: string; readonly from: { pathNot?: string } }[]
}

/** The rooms of `src/domain` in the order that `npm run lint` holds them to. */
function roomsInOrder(): readonly string[] {
  const { forbidden }: Cruising = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
  const rule = forbidden.find(({ name }) => name === 'domain-room-has-a-place')
  return /\((.*)\)/.exec(rule?.from.pathNot ?? '')?.[1]?.split('|') ?? []
}

it('the map names every folder of src', () => {
  for (const folder of folders('src')) expect(page).toContain(`| \`src/${folder}\` |`)
})

it('the map names the rooms of src/domain, in the order that the linter enforces', () => {
  const [, list = ''] = /^The rooms of `src\/domain`[^:]*: ([^.]*)\./m.exec(page) ?? []
  const named = [...list.matchAll(/`([a-z-]+)`/g)].map(([, room]) => room)
  expect(named).toEqual(roomsInOrder())
  expect([...named].sort()).toEqual(folders('src/domain').sort())
})
