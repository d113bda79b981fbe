import { expect, test } from '@jest/globals';
import { XMLParser } from 'fast-xml-parser';
import fc from 'fast-check';
import { ConversionError, toDomainXml } from '../../../../launcher/converter/index.ts';
import { host, vmi, withDisks } from './examples.ts';

test('the whole domain of a small VMI', () => {
  const devices = { autoattachGraphicsDevice: false, autoattachMemBalloon: false, disableHotplug: true };
  expect(toDomainXml(vmi({ domain: { devices } }), host())).toBe(`<domain type="qemu">
  <name>aviary_finch</name>
  <memory unit="b">134217728</memory>
  <vcpu placement="static">1</vcpu>
  <os>
    <type arch="x86_64" machine="q35">hvm</type>
    <smbios mode="sysinfo"/>
  </os>
  <features>
    <acpi/>
    <vmport state="off"/>
  </features>
  <cpu mode="host-model">
    <topology sockets="1" cores="1" threads="1"/>
  </cpu>
  <devices>
    <controller type="usb" index="0" model="none"/>
    <controller type="virtio-serial" index="0" model="virtio-non-transitional"/>
    <channel type="unix">
      <target type="virtio" name="org.qemu.guest_agent.0"/>
    </channel>
    <serial type="unix">
      <source mode="bind" path="/var/run/libvirt/serial0.sock"/>
      <log file="/var/run/libvirt/serial0.log" append="on"/>
      <target port="0"/>
    </serial>
    <console type="pty">
      <target type="serial" port="0"/>
    </console>
    <memballoon model="none"/>
  </devices>
  <metadata>
    <kubevirt xmlns="http://kubevirt.io">
      <uid>0b1c</uid>
    </kubevirt>
  </metadata>
  <sysinfo type="smbios">
    <system>
      <entry name="manufacturer">KubeVirt</entry>
      <entry name="family">KubeVirt</entry>
      <entry name="product">None</entry>
    </system>
  </sysinfo>
</domain>
`);
});

test('whatever a user writes stays text: it cannot become markup', () => {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    trimValues: false,
    parseTagValue: false,
  });
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", ']', 'a', '=', '/') }), (text) => {
      const domain = { firmware: { kernelBoot: { kernelArgs: `x${text}` } } };
      const disk = { name: 'a', serial: `x${text}`, disk: { bus: 'virtio' } };
      const xml = toDomainXml(withDisks([disk], undefined, { domain }), host());
      const parsed = parser.parse(xml) as {
        domain: { os: { cmdline: string }; devices: { disk: { serial: string } } };
      };
      expect(parsed.domain.os.cmdline).toBe(`x${text}`);
      expect(parsed.domain.devices.disk.serial).toBe(`x${text}`);
    }),
  );
});

test('the same VMI always gives the same XML', () => {
  const instance = withDisks([{ name: 'a', disk: { bus: 'virtio' } }]);
  expect(toDomainXml(instance, host())).toBe(toDomainXml(structuredClone(instance), host()));
});

test('what cannot be converted says which field and what would work', () => {
  const convert = () => toDomainXml(vmi({ domain: { memory: {} } }), host());
  expect(convert).toThrow(ConversionError);
  expect(convert).toThrow('spec.domain.memory.guest: is required, for example 1Gi');
});
