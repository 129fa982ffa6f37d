import {
  copyFileSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Edit } from './plant.js'

const copied = ['*.{json,ts,md}', '{src,adapters,test,tools,docs,examples}/**/*']

/** How often `find` stands in `source`. */
export const occurrences = (source: string, find: string): number => source.split(find).length - 1

/** A copy of a working tree in which sources can be changed while the tree itself stays as it is. */
export interface TreeCopy {
  readonly dir: string
  /** Changes the files; the returned function puts them back. */
  plant(edits: readonly Edit[]): () => void
  remove(): void
}

function share(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  try {
    linkSync(from, to)
  } catch {
    // Another file system, which cannot link.
    copyFileSync(from, to)
  }
}

/** A linked file is one file under two names, so it is unlinked before it is written. */
function rewrite(path: string, source: string): void {
  rmSync(path)
  writeFileSync(path, source)
}

function edited(path: string, { file, find, replace }: Edit): string {
  const source = readFileSync(path, 'utf8')
  const count = occurrences(source, find)
  if (count !== 1) throw new Error(`${file} holds this ${count} times instead of once:\n${find}`)
  return source.replace(find, () => replace)
}

export function copyTree(root: string): TreeCopy {
  const dir = mkdtempSync(join(tmpdir(), 'postern-planted-'))
  const files = globSync(copied, {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => name === 'node_modules',
  }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name)
    share(path, join(dir, path.slice(root.length)))
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  return {
    dir,
    plant(edits) {
      const before = new Map<string, string>()
      const restore = () => {
        for (const [path, source] of before) rewrite(path, source)
      }
      for (const edit of edits) {
        const path = join(dir, edit.file)
        const source = edited(path, edit)
        if (!before.has(path)) before.set(path, readFileSync(path, 'utf8'))
        rewrite(path, source)
      }
      return restore
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
