import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtEntries, bundled, entrySize } from '../../tools/sizes.js'
import { type BuiltPackage, buildPackage } from '../support/package/build-package.js'
import { gzipBounds, shakenBounds } from './size-bounds.js'

const entries = builtEntries()

let built: BuiltPackage

beforeAll(async () => {
  built = await buildPackage({})
})

afterAll(() => built?.remove())

const fileOf = (subpath: string): string => built.file(entries.get(subpath) ?? 'no subpath')

describe('what a subpath weighs', () => {
  it('is bounded for each of them', () => {
    expect(Object.keys(gzipBounds)).toEqual([...entries.keys()])
  })

  it.each(Object.entries(gzipBounds))('%s: at most %i bytes', async (subpath, bound) => {
    const { own, withChunks, minified, gzip, brotli } = await entrySize(fileOf(subpath))
    expect(gzip).toBeLessThanOrEqual(bound)
    // A bound far above would let it double unseen.
    expect(gzip).toBeGreaterThan(bound * 0.4)
    expect(own).toBeLessThanOrEqual(withChunks)
    expect(brotli).toBeLessThan(gzip)
    expect(gzip).toBeLessThan(minified)
  })
})

describe('what a bundler leaves of a subpath of which one name is used', () => {
  const importing = (subpath: string, name: string): Promise<string> =>
    bundled(`export { ${name} } from ${JSON.stringify(fileOf(subpath))}`, dirname(fileOf(subpath)))

  it.each(Object.entries(shakenBounds))('%s', async (subpath, [name, bound, canary]) => {
    const whole = await bundled(
      `export * from ${JSON.stringify(fileOf(subpath))}`,
      dirname(fileOf(subpath)),
    )
    const shaken = await importing(subpath, name)
    expect(shaken.length).toBeLessThanOrEqual(bound)
    expect(shaken.length).toBeLessThan(whole.length)
    expect(whole).toContain(canary)
    expect(shaken).not.toContain(canary)
  })

  it('is all of it where it has one name', async () => {
    for (const subpath of entries.keys()) {
      const names = Object.keys(await import(pathToFileURL(fileOf(subpath)).href))
      expect([subpath, names.length > 1]).toEqual([subpath, subpath in shakenBounds])
    }
  })
})
