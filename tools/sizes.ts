import { buildPackage } from '../test/support/package/build-package.js'
import { builtEntries } from './sizes/built-entries.js'
import { entrySize } from './sizes/entry-sizes.js'

const kib = (bytes: number): string => (bytes / 1024).toFixed(1).padStart(9)

/** Prints what each subpath weighs, in KiB. The bounds are in `test/package/size-bounds.ts`. */
async function main(): Promise<void> {
  const built = await buildPackage({})
  try {
    console.log(`${'KiB'.padEnd(24)}      own   chunks minified     gzip   brotli`)
    for (const [subpath, name] of builtEntries()) {
      const { own, withChunks, minified, gzip, brotli } = await entrySize(built.file(name))
      const columns = [own, withChunks, minified, gzip, brotli].map(kib)
      console.log(`${subpath.padEnd(24)}${columns.join('')}`)
    }
  } finally {
    built.remove()
  }
}

await main()
