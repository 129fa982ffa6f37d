import { type FileHandle, open } from 'node:fs/promises'

/** A file of JSON lines that grows, and is cut back to what is known to be in it. */
export interface LineFile {
  readonly path: string
  /** Resolves with the bytes that the file then has, all of them on the disk. */
  append(lines: readonly object[]): Promise<number>
  close(): Promise<void>
}

/** Keeps the first `bytes` of the file, and drops what an interrupted run wrote after them. */
export async function openLineFile(path: string, bytes: number): Promise<LineFile> {
  const file = await openOrMake(path)
  try {
    const { size } = await file.stat()
    let end = Math.min(size, bytes)
    await file.truncate(end)
    return {
      path,
      async append(lines) {
        if (lines.length === 0) return end
        const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        await file.write(text, 0, text.length, end)
        await file.datasync()
        end += text.length
        return end
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The last line of each `from`, by what stands before its `to`. */
export type KnownIds = ReadonlyMap<string, string>

/** The ids of the lines `{ from, to }` in the first `bytes` of the file. */
export async function idsIn(path: string, bytes: number): Promise<KnownIds> {
  const ids = new Map<string, string>()
  if (bytes === 0) return ids
  const file = await open(path)
  try {
    const lines = file.readLines({ end: bytes - 1, autoClose: false })
    for await (const line of lines) ids.set(beforeTo(line), line)
  } finally {
    await file.close()
  }
  return ids
}

/** Appends no line that says what the last one with its `from` says. */
export function withoutKnown(file: LineFile, known: KnownIds): LineFile {
  const last = new Map(known)
  const isNew = (line: object) => {
    const text = JSON.stringify(line)
    if (last.get(beforeTo(text)) === text) return false
    last.set(beforeTo(text), text)
    return true
  }
  return { ...file, append: (lines) => file.append(lines.filter(isNew)) }
}

const beforeTo = (line: string) => line.slice(0, line.lastIndexOf(',"to":'))

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return open(path, 'wx+', 0o600)
    }
    throw error
  }
}
