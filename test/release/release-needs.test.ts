import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ReleaseFacts, releaseNeeds } from '../../scripts/release-needs.ts'

const READY: ReleaseFacts = {
  manifest: {
    version: '1.2.0',
    repository: { type: 'git', url: 'git+https://git.example.org/portcullis.git' },
    homepage: 'https://portcullis.example.org',
  },
  changelog: '# Changelog\n\n## 1.2.0\n\n- All.\n',
  changesets: ['README.md', 'config.json', 'changelog.mjs'],
  changedFiles: '',
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

describe('the workflow that publishes', () => {
  it('names the actions of others by commit, with the version beside it', () => {
    const text = readFileSync(join(import.meta.dirname, '../../.github/workflows/release.yml'), 'utf8')
    const used = text.match(/uses: .*/g) ?? []
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) expect(action).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })
})
