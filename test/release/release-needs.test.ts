import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ReleaseFacts, releaseNeeds } from '../../scripts/release-needs.ts'

const READY: ReleaseFacts = {
  manifest: {
    version: '1.2.0',
    repository: { type: 'git', url: 'git+https://git.example.org/portcullis.git' },
    homepage: 'https://portcullis.example.org',
    bugs: { url: 'https://git.example.org/portcullis/issues' },
  },
  changelog: '# Changelog\n\n## 1.2.0\n\n- All.\n',
  changesets: ['README.md', 'config.json', 'changelog.mjs'],
  changedFiles: '',
  published: ['1.1.0'],
  isFirst: false,
}

describe('what a release needs', () => {
  it('is nothing where all of it is there', () => {
    expect(releaseNeeds(READY)).toEqual([])
    const short = { ...READY.manifest, repository: 'https://git.example.org/portcullis' }
    expect(releaseNeeds({ ...READY, manifest: short })).toEqual([])
  })

  it.each<[string, Partial<ReleaseFacts>, RegExp]>([
    ['a repository', { manifest: { ...READY.manifest, repository: undefined } }, /`repository`/],
    ['a repository with an address', { manifest: { ...READY.manifest, repository: { type: 'git' } } }, /`repository`/],
    ['a homepage', { manifest: { ...READY.manifest, homepage: '' } }, /`homepage`/],
    ['an address for defects', { manifest: { ...READY.manifest, bugs: {} } }, /`bugs`/],
    ['a version that is new', { published: ['1.1.0', '1.2.0'] }, /has 1\.2\.0 already/],
    ['a registry that answers', { published: undefined }, /does not answer/],
    ['a package that is there', { published: [] }, /no package of this name.*--publish --first/],
    ['its changesets collected', { changesets: ['README.md', 'blue-fox.md'] }, /blue-fox\.md/],
    ['a heading in the changelog', { changelog: '# Changelog\n\n## 1.2.01\n' }, /heading for 1\.2\.0/],
    ['a heading that is no plan', { changelog: '## [1.2.0] - Unreleased\n' }, /heading for 1\.2\.0/],
    ['everything committed', { changedFiles: ' M src/index.ts\n' }, /not committed/],
  ])('is %s', (_what, facts, told) => {
    const needs = releaseNeeds({ ...READY, ...facts })
    expect(needs).toHaveLength(1)
    expect(needs[0]).toMatch(told)
  })
})

it('a first release needs no package at the registry, and a long list is cut', () => {
  expect(releaseNeeds({ ...READY, published: [], isFirst: true })).toEqual([])
  const changesets = ['a.md', 'b.md', 'c.md', 'd.md', 'e.md']
  expect(releaseNeeds({ ...READY, changesets })).toEqual([expect.stringContaining('a.md, b.md, c.md, and 2 more')])
})

describe('the workflow that publishes', () => {
  it('names the actions of others by commit, with the version beside it', () => {
    const text = readFileSync(join(import.meta.dirname, '../../.github/workflows/release.yml'), 'utf8')
    const used = text.match(/uses: .*/g) ?? []
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) expect(action).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })
})
