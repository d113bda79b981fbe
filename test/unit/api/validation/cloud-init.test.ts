import { expect, test } from '@jest/globals';
import { cloudInitRules } from '../../../../api/validation/cloud-init.ts';
import { told } from './told.ts';

test.each(['cloudInitNoCloud', 'cloudInitConfigDrive'])('%s: data come from one place, decode, and fit', (kind) => {
  const field = `Invalid spec.volumes[0].${kind}`;
  const judge = (source: object): string[] => told(cloudInitRules, { volumes: [{ name: 'seed', [kind]: source }] });
  const table: [object, string[]][] = [
    [{ secretRef: { name: 's' } }, []],
    [{ userData: 'x'.repeat(2048) }, []],
    [{}, [field]],
    [{ userData: 'x', secretRef: { name: 's' } }, [field]],
    [{ networkData: 'x', networkDataBase64: 'eA==' }, [field]],
    [{ userDataBase64: 'not base64!' }, [`${field}.userDataBase64`]],
    [{ networkDataBase64: 'eHh' }, [`${field}.networkDataBase64`]],
    [{ userData: 'x'.repeat(2049) }, [field]],
    [{ userData: 'é'.repeat(1025) }, [field]],
    [{ userDataBase64: `${'eHh4'.repeat(682)}eHg=` }, []],
    [{ userDataBase64: 'eHh4'.repeat(683) }, [field]],
  ];
  for (const [source, expected] of table) expect([source, judge(source)]).toEqual([source, expected]);
});
