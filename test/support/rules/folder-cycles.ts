import { posix } from 'node:path'
import { parseSource } from './parsed-source.js'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** The folder of a file. A file directly in `src` stands for itself: it belongs to no room. */
function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === 'src' ? path.replace(/\.[jt]s$/, '') : folder
}

/** Which folder imports which, type imports counted. A folder inside another is one of its own. */
function folderGraph(files: ReadonlyMap<string, string>): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [path, source] of files) {
    const from = folderOf(path)
    const targets = graph.get(from) ?? new Set()
    graph.set(from, targets)
    for (const { specifier } of parseSource(path, source).imports) {
      if (specifier === null || !specifier.startsWith('.')) continue
      const to = folderOf(posix.join(posix.dirname(path), specifier))
      if (to !== from) targets.add(to)
    }
  }
  return graph
}

/** Every folder that `start` leads to. */
function reachable(graph: Graph, start: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const open = [start]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const folder of graph.get(next) ?? []) {
      if (seen.has(folder)) continue
      seen.add(folder)
      open.push(folder)
    }
  }
  return seen
}

/**
 * Folders that import each other, directly or round a circle. dependency-cruiser takes a folder and
 * the folders inside it for one; here they are apart.
 */
export function folderCycles(files: ReadonlyMap<string, string>): readonly string[] {
  const graph = folderGraph(files)
  return [...graph.keys()]
    .filter((folder) => reachable(graph, folder).has(folder))
    .map((folder) => `${folder}: is part of a cycle of folders`)
}
