import { posix } from 'node:path'

/** What stands between two such lines is for readers of the repository. Markdown shows neither. */
const repositoryPart = /^\[\/\/\]: # \(repository\)\n.*?^\[\/\/\]: # \(end of repository\)\n\n?/gms

const link = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g

/**
 * A page as the package has it: without what is for readers of the repository alone, and with the bare text where a link
 * leads to a file that the package does not have.
 */
export function packedPage(
  text: string,
  page: string,
  isPacked: (path: string) => boolean,
): string {
  return text
    .replaceAll(repositoryPart, '')
    .replaceAll(link, (whole: string, image: string, shown: string, href: string) => {
      const target = targetOf(href, page)
      return target === null || image !== '' || isPacked(target) ? whole : shown
    })
}

/** The file of the repository that a link on a page leads to; null for an address, and for a heading of the page. */
export function targetOf(href: string, page: string): string | null {
  const [path = ''] = href.split('#')
  if (path === '' || /^[a-z]+:/i.test(path)) return null
  return posix.join(posix.dirname(page), path)
}
